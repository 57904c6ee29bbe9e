module @jit_recurrent attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x2x6xf32>) -> (tensor<5x2x6xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<[[4.92061372E-4, 0.119498216, -0.109655142, -0.356236726, -0.181868315, -0.396658629], [-0.196882606, -0.248189956, 0.195936814, 0.142754808, 4.216570e-02, -0.372187227], [-0.537685812, -0.183046311, -0.760489106, -0.515815079, -0.736694037, -0.0940364524], [0.0627004355, -0.0747723803, -1.00670385, -0.215477154, -0.0194003787, 0.0453235954], [-0.391407639, -0.323534906, 0.424359441, -0.323013872, -0.0130086821, 0.353755951], [0.0441856571, 0.0255127102, -0.490022331, 0.0304560922, 0.543529391, -0.61885786]]> : tensor<6x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %1 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x2x6xf32>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %cst, %iterArg_4 = %c_1, %iterArg_5 = %0, %iterArg_6 = %1) : tensor<5x2x6xf32>, tensor<6x6xf32>, tensor<i32>, tensor<2x6xf32>, tensor<5x2x6xf32>
    cond {
      %3 = stablehlo.compare LT, %iterArg_4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<5x2x6xf32>, tensor<i32>) -> tensor<2x6xf32>
      %4:2 = func.call @closed_call(%iterArg_3, %iterArg_5, %3) : (tensor<6x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_6, %4#1, %iterArg_4) : (tensor<5x2x6xf32>, tensor<2x6xf32>, tensor<i32>) -> tensor<5x2x6xf32>
      %6 = stablehlo.add %iterArg_4, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %6, %4#0, %5 : tensor<5x2x6xf32>, tensor<6x6xf32>, tensor<i32>, tensor<2x6xf32>, tensor<5x2x6xf32>
    }
    return %2#4 : tensor<5x2x6xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x2x6xf32>, %arg1: tensor<i32>) -> tensor<2x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c, sizes = [1, 2, 6] : (tensor<5x2x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x6xf32>) -> tensor<2x6xf32>
    return %1 : tensor<2x6xf32>
  }
  func.func private @closed_call(%arg0: tensor<6x6xf32>, %arg1: tensor<2x6xf32>, %arg2: tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
    %1 = stablehlo.add %0, %arg2 : tensor<2x6xf32>
    %2 = stablehlo.tanh %1 : tensor<2x6xf32>
    return %2, %2 : tensor<2x6xf32>, tensor<2x6xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x2x6xf32>, %arg1: tensor<2x6xf32>, %arg2: tensor<i32>) -> tensor<5x2x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c : (tensor<5x2x6xf32>, tensor<1x2x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x6xf32>
    return %1 : tensor<5x2x6xf32>
  }
}
